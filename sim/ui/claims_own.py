"""A seller's statements of one's own: a file to upload, checked like those of the articles."""

from __future__ import annotations

import hashlib
import uuid
from pathlib import Path

import streamlit as st

from sim.errors import FleetsimError
from sim.ui.jobs import OUT
from sim.ui.language import say
from sim.ui.safe import literal
from sim.ui.told_rules import error_told

__all__ = ["CLAIMS", "EXAMPLE", "ask_own"]

CLAIMS = OUT / ".claims"
LARGEST_BYTES = 256 * 1024
"""Largest file of statements that is accepted."""

EXAMPLE = """claims:
  - id: saving
    kind: cost
    statement: Paying by the year saves a quarter of the rent.
    value: {low: 25, unit: "%"}
    computation: saving
    inputs: {offer: a100-40g-custom, plan: annual, months: 12, per: "%"}
  - id: memory
    kind: memory
    statement: A 13B model fits on an RTX 3090 with 4-bit QLoRA.
    computation: training_fits
    inputs: {size: 13B, method: qlora4, gpu: RTX3090, micro_batch: 1, seq_len: 2048}
"""


def ask_own() -> Path | None:
    """The uploaded file, read by the loader of the command line; None, and said why, where there is none."""
    upload = st.file_uploader(say("claims.upload"), type=["yaml", "yml"], key="claims_upload")
    with st.expander(say("claims.example"), expanded=upload is None):
        st.caption(say("claims.example_note"))
        st.code(EXAMPLE, language="yaml")
    if upload is None:
        return None
    if upload.size > LARGEST_BYTES:
        st.error(say("claims.too_large", size=f"{upload.size:,}", most=f"{LARGEST_BYTES:,}"))
        return None
    file = _kept(upload.getvalue())
    try:
        from sim.claims.read import read_claims

        read_claims([file])
    except FleetsimError as error:
        st.error(literal(error_told(error).replace(str(file), upload.name)))
        return None
    return file


def _kept(content: bytes) -> Path:
    """Stored under the digest of its content, whole or not at all: the name of an upload leads nowhere."""
    CLAIMS.mkdir(parents=True, exist_ok=True)
    file = CLAIMS / f"{hashlib.blake2b(content, digest_size=8).hexdigest()}.yaml"
    if not file.is_file():
        fresh = CLAIMS / f"{uuid.uuid4().hex}.part"
        fresh.write_bytes(content)
        fresh.replace(file)
    return file
