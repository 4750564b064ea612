"""The page in a browser: the only home of streamlit. It shows; it computes nothing."""
