"""What is owed: prices, periods, charges and invoices of the leases of one run."""

from sim.billing.checks import contract_problems
from sim.billing.ledger import bill

__all__ = ["bill", "contract_problems"]
