"""What sellers claim, recomputed: statements as data, the computation that tests each, and a verdict.

Statements stand in the YAML files of this folder. The rule of tolerance and the order of the verdicts
are in `verdict`; each computation uses the program's own billing, physics and engine.
"""
