"""Names of currencies: codes of ISO 4217 in which a card may be priced, and what people write.

Source: ISO 4217, List One as the maintenance agency published it on 2026-01-01: 178 codes. Left out, for no
card is rented for them: 8 codes of funds (BOV CHE CHW CLF COU MXV USN UYI), 13 without minor units, of
metals, unions and tests (XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX), and 2 units of account that
are no money (UYW of Uruguay, XAD of the Arab Monetary Fund). 155 are left. Compared with pycountry 26.2.16
(the same 178) and with the tender of CLDR by Babel 2.19 (153: all of these but SVC and VED).
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Mapping

__all__ = ["CODES", "checked", "meant"]

_LIST = """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF
    CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD
    HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL
    LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP
    PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT
    TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
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
    **dict.fromkeys(("BGN", "HRK"), "EUR"),
    "ANG": "XCG",
    "CUC": "CUP",
    "SLL": "SLE",
    "ZWL": "ZWG",
}
"""What people write -> the code that it stands for; of a code that is gone (ISO 4217, List Three), the one of
the money that came after it."""


def checked(code: str) -> str:
    """The code; ValueError, with the one that may be meant, where it is none."""
    if code not in CODES:
        near = meant(code)
        hint = "" if near is None else f"; did you mean {near}?"
        msg = f"a currency is a code of ISO 4217, such as CNY, USD or EUR{hint}"
        raise ValueError(msg)
    return code


def meant(text: str) -> str | None:
    """The code that a name which is no code stands for, or looks most like; None: nobody can tell."""
    plain = unicodedata.normalize("NFKC", text).strip().upper()
    if plain in CODES:
        return plain
    near = difflib.get_close_matches(plain, sorted(CODES), n=1) if len(plain) == 3 else []
    return _MEANT.get(plain, near[0] if near else None)
