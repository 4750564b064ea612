"""`fleetsim app`: the page in a browser, served to this machine only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from sim.cli.console import complain

__all__ = ["app"]

PAGE = Path(__file__).parents[1] / "page.py"
"""The page as a script, inside the package, so that it is there after any kind of installation."""

SAFE_OPTIONS = (
    "--server.address=127.0.0.1",
    "--server.headless=true",
    "--server.enableCORS=true",
    "--server.enableXsrfProtection=true",
    "--server.enableStaticServing=true",
    "--server.allowedHosts=127.0.0.1",
    "--server.allowedHosts=localhost",
    "--server.maxUploadSize=5",
    "--server.maxMessageSize=50",
    "--server.fileWatcherType=none",
    "--runner.postScriptGC=false",
    "--global.disableWidgetStateDuplicationWarning=true",
    "--browser.gatherUsageStats=false",
    "--client.showErrorDetails=none",
    "--client.toolbarMode=minimal",
)
"""The same as .streamlit/config.toml: the defaults of streamlit are open to the network."""


def app(port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = 8501) -> None:
    """Open the page that runs a scenario and shows the comparison, on http://127.0.0.1:PORT."""
    complain(f"http://127.0.0.1:{port} (end with Ctrl-C)", label="Page")
    command = [sys.executable, "-m", "streamlit", "run", str(PAGE), f"--server.port={port}", *SAFE_OPTIONS]
    if os.name == "posix":
        # The server takes the place of this process, so that ending the one ends the other.
        os.execv(sys.executable, command)  # noqa: S606
    raise typer.Exit(subprocess.run(command, check=False).returncode)  # noqa: S603
