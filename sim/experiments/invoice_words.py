"""The words of real invoices: headers of columns, names of sums and of kinds of charges.

English, Chinese, German and French, in small letters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["CATEGORY_WORDS", "FIELDS", "LOOSE_FIELDS", "MONTHS", "SAME_CURRENCY", "SUMS"]

FIELDS: Mapping[str, tuple[str, ...]] = {
    "charge": ("charge", "charge id", "ledger line"),
    "provider": (
        "provider",
        "vendor",
        "supplier",
        "seller",
        "供应商",
        "服务商",
        "厂商",
        "销售方",
        "销方名称",
        *("anbieter", "lieferant", "fournisseur", "prestataire"),
    ),
    "period": (
        "period",
        "billing period",
        "service period",
        "账期",
        "计费周期",
        "服务期间",
        "服务周期",
        "周期",
        *("leistungszeitraum", "abrechnungszeitraum", "zeitraum", "période", "période de facturation"),
    ),
    "start": (
        *("start", "from", "start date", "period start", "begin", "开始", "开始日期", "开始时间", "起始日期"),
        *("计费开始时间", "服务开始时间"),
        *("von", "beginn", "startdatum", "début", "date de début"),
    ),
    "end": (
        *("end", "to", "until", "end date", "period end", "结束", "结束日期", "结束时间", "截止日期"),
        *("计费结束时间", "服务结束时间"),
        *("bis", "ende", "enddatum", "fin", "date de fin"),
    ),
    "month": ("month", "billing month", "月份", "账单月份", "月", "monat", "abrechnungsmonat", "mois"),
    "offer": (
        *(
            "offer",
            "sku",
            "item",
            "product",
            "resource",
            "产品",
            "产品名称",
            "商品",
            "商品名称",
            "套餐",
            "型号",
        ),
        *("规格型号", "货物或应税劳务名称", "货物或应税劳务、服务名称"),
        *("artikel", "produkt", "article", "produit"),
    ),
    "lease": (
        *("lease", "contract", "order", "合同", "合同号", "订单", "订单号", "租约"),
        *("vertrag", "vertragsnummer", "auftrag", "auftragsnummer", "contrat", "commande"),
    ),
    "description": (
        *("description", "details", "detail", "memo", "描述", "说明", "备注", "摘要", "项目名称", "费用项"),
        *("line item", "item description", "beschreibung", "leistungsbeschreibung", "bezeichnung"),
        *("désignation", "libellé", "détail"),
    ),
    "category": (
        "category",
        "charge type",
        "type",
        "类型",
        "费用类型",
        "计费项",
        "kategorie",
        "gebührenart",
        "catégorie",
    ),
    "quantity": ("quantity", "qty", "usage", "数量", "用量"),
    "unit": ("unit", "单位", "einheit", "unité"),
    "unit_price": ("unit price", "price", "单价", "单价(元)", "单价(不含税)"),
    "amount": (
        *(
            "amount",
            "net amount",
            "cost",
            "billed cost",
            "金额",
            "金额(元)",
            "费用",
            "不含税金额",
            "应付金额",
        ),
        *("金额(不含税)", "betrag", "nettobetrag", "betrag netto", "montant", "montant ht", "total ht"),
    ),
    "tax": ("tax", "tax amount", "vat", "税额", "steuerbetrag", "mwst-betrag", "montant tva"),
    "gross": (
        *("gross", "gross amount", "total", "total incl. tax"),
        *("价税合计", "含税金额", "总价", "金额(含税)"),
        *("bruttobetrag", "betrag brutto", "gesamtbetrag", "montant ttc", "total ttc"),
    ),
    "currency": ("currency", "币种", "货币", "währung", "devise"),
}
"""Field -> headers that mean it; more are told with `--column FIELD=HEADER`."""

LOOSE_FIELDS: Mapping[str, tuple[str, ...]] = {
    "start": (
        *("date", "service date", "charge date", "usage date", "日期", "服务日期", "消费日期"),
        *("datum", "leistungsdatum", "tag", "date de prestation"),
    ),
    "description": ("position", "service", "text", "leistung", "prestation", "name", "名称", "内容"),
    "quantity": ("units", "count", "menge", "anzahl", "stückzahl", "stück", "quantité", "qté", "nombre"),
    "unit_price": (
        *("price per unit", "unit cost", "rate", "einzelpreis", "stückpreis", "preis", "preis pro einheit"),
        *("prix unitaire", "prix unitaire ht", "prix"),
    ),
    "amount": ("net", "net total", "line total", "netto", "gesamtpreis", "summe netto", "prix total"),
    "tax": ("mwst", "ust", "steuer", "umsatzsteuer", "tva"),
    "gross": ("brutto", "gesamt", "summe", "ttc"),
}
"""Field -> headers that may mean it: read so where the field has no other column and the cells can be it."""

SUMS = frozenset(
    {
        *("total", "sum", "subtotal", "grand total", "合计", "小计", "总计", "总额", "价税合计", "本页合计"),
        *("total due", "amount due", "net total", "total net"),
        *("summe", "gesamt", "gesamtsumme", "gesamtbetrag", "zwischensumme", "rechnungsbetrag", "endbetrag"),
        *("sous-total", "total ht", "total ttc", "montant total"),
    }
)
"""First text of a row that sums others up."""

_MONTHS = """
    january jan januar jänner janvier janv; february feb februar février fevrier févr fevr;
    march mar märz maerz mär mrz mars; april apr avril avr; may mai; june jun juni juin;
    july jul juli juillet juil; august aug août aout; september sep sept septembre;
    october oct oktober okt octobre; november nov novembre; december dec dezember dez décembre decembre déc
"""
MONTHS: Mapping[str, int] = {
    name: number for number, names in enumerate(_MONTHS.split(";"), 1) for name in names.split()
}
"""Name of a month -> its number."""

CATEGORY_WORDS: Mapping[str, re.Pattern[str]] = {
    "tax": re.compile(
        r"(?<![a-z])(?:tax|vat|gst|mwst|ust|tva)(?![a-z])|mehrwertsteuer|umsatzsteuer|增值税|税额|税费|税金|^税$"
    ),
    "refund": re.compile(
        r"(?<![a-z])(?:refund|credit note|avoir|remboursement)(?![a-z])|gutschrift|erstattung|退款|退费|退订"
    ),
    "fee": re.compile(
        r"(?<![a-z])(?:fees?|surcharge|set-?up|frais)(?![a-z])|gebühr|einrichtung|手续费|附加费"
    ),
    "storage": re.compile(
        r"(?<![a-z])(?:storage|disk|stockage)(?![a-z])|speicherplatz|festplatte|存储|磁盘|硬盘"
    ),
    "adjustment": re.compile(r"(?<![a-z])(?:adjustment|correction|ajustement)(?![a-z])|korrektur|调账|调整"),
}
"""Category of the ledger -> words of an invoice that name it."""

SAME_CURRENCY: Mapping[str, tuple[str, ...]] = {"CNY": ("rmb", "¥", "元", "人民币", "cn¥")}
"""Other ways to write a currency."""
