"""What the money means: present value, break-even, how much to commit, early ends, budgets.

The modules do not import each other but for `presentvalue`; formulas and sources: docs/finance.md.
"""
