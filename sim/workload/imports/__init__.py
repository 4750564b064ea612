"""Import of what people have: dumps and logs of schedulers and tables of jobs, to one normal form."""

from sim.workload.imports.flow import Imported, import_jobs
from sim.workload.imports.formats import READERS
from sim.workload.imports.mapping import preset_names
from sim.workload.imports.report import Report
from sim.workload.imports.settings import Settings

__all__ = ["READERS", "Imported", "Report", "Settings", "import_jobs", "preset_names"]
