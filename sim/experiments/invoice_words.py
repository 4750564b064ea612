"""The words of real invoices: headers of columns, names of sums and of kinds of charges, in two languages."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["CATEGORY_WORDS", "FIELDS", "SAME_CURRENCY", "SUMS"]

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
    ),
    "start": (
        *("start", "from", "start date", "period start", "begin", "开始", "开始日期", "开始时间", "起始日期"),
        *("计费开始时间", "服务开始时间"),
    ),
    "end": (
        *("end", "to", "until", "end date", "period end", "结束", "结束日期", "结束时间", "截止日期"),
        *("计费结束时间", "服务结束时间"),
    ),
    "month": ("month", "billing month", "月份", "账单月份", "月"),
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
    ),
    "lease": ("lease", "contract", "order", "合同", "合同号", "订单", "订单号", "租约"),
    "description": (
        *("description", "details", "detail", "memo", "描述", "说明", "备注", "摘要", "项目名称", "费用项"),
    ),
    "category": ("category", "charge type", "type", "类型", "费用类型", "计费项"),
    "quantity": ("quantity", "qty", "usage", "数量", "用量"),
    "unit": ("unit", "单位"),
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
        *("金额(不含税)",),
    ),
    "tax": ("tax", "tax amount", "vat", "税额"),
    "gross": (
        *("gross", "gross amount", "total", "total incl. tax"),
        *("价税合计", "含税金额", "总价", "金额(含税)"),
    ),
    "currency": ("currency", "币种", "货币"),
}
"""Field -> headers that mean it; more are told with `--column FIELD=HEADER`."""

SUMS = frozenset(
    {
        *("total", "sum", "subtotal", "grand total", "合计", "小计", "总计", "总额", "价税合计", "本页合计"),
    }
)
"""First text of a row that sums others up."""

CATEGORY_WORDS: Mapping[str, re.Pattern[str]] = {
    "tax": re.compile(r"(?<![a-z])(?:tax|vat|gst)(?![a-z])|增值税|税额|税费|税金|^税$"),
    "refund": re.compile(r"(?<![a-z])(?:refund|credit note)(?![a-z])|退款|退费|退订"),
    "fee": re.compile(r"(?<![a-z])(?:fees?|surcharge)(?![a-z])|手续费|附加费"),
    "storage": re.compile(r"(?<![a-z])(?:storage|disk)(?![a-z])|存储|磁盘|硬盘"),
    "adjustment": re.compile(r"(?<![a-z])(?:adjustment|correction)(?![a-z])|调账|调整"),
}
"""Category of the ledger -> words of an invoice that name it."""

SAME_CURRENCY: Mapping[str, tuple[str, ...]] = {"CNY": ("rmb", "¥", "元", "人民币", "cn¥")}
"""Other ways to write a currency."""
