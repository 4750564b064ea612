"""Router of the pages: `streamlit run app.py`, or `fleetsim app`."""

from sim.ui.frame import main

main()
