"""Offers as a price list of one's own has them: made-up quotes of one card each."""

from __future__ import annotations

QUOTE = """\
  - id: {id}
    name: a quote of {id}
    provider: {id}
    gpu: A100-40G
    gpus_per_unit: 1
    form: cloud
    wan_mbps: 200
    disk_read_gb_s: 1.0
    link: none
    network: 10gbe
    price: {{unit: {unit}, low: {price}, high: {price}}}
    plans: {plans}
    currency: {currency}
    status: quote
    source: a quote
    date: 2026-11-16
"""
