"""Names of currencies: codes of ISO 4217 (List One, currencies of states, as of 2026), and what people write.

Codes of funds, of metals and for tests (XAU, XXX, ...) are left out: nobody rents a card for them.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Mapping

__all__ = ["CODES", "meant"]

_LIST = """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD
    CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ
    GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR
    LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN
    PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB
    TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW
    ZWG
"""
CODES = frozenset(_LIST.split())
"""Codes in which an offer may be priced."""

_MEANT: Mapping[str, str] = {
    **dict.fromkeys(("RMB", "YUAN", "RENMINBI", "CNH", "CN¥", "元", "人民币"), "CNY"),
    **dict.fromkeys(("$", "US$", "DOLLAR", "DOLLARS", "美元"), "USD"),
    **dict.fromkeys(("€", "EURO", "EUROS", "欧元"), "EUR"),
    **dict.fromkeys(("£", "POUND", "STERLING", "英镑"), "GBP"),
    **dict.fromkeys(("YEN", "日元"), "JPY"),
    **dict.fromkeys(("HK$", "港元", "港币"), "HKD"),
}
"""What people write -> the code that it stands for."""


def meant(text: str) -> str | None:
    """The code that a name which is no code stands for, or looks most like; None: nobody can tell."""
    plain = unicodedata.normalize("NFKC", text).strip().upper()
    if plain in CODES:
        return plain
    near = difflib.get_close_matches(plain, sorted(CODES), n=1) if len(plain) == 3 else []
    return _MEANT.get(plain, near[0] if near else None)
