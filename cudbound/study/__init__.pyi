"""What a methodologist imports, and where it is."""

from . import worlds as worlds
from .closed_forms import closed_form_sample_sizes as closed_form_sample_sizes
from .design_file import read_design as read_design
from .plan_sample_size import SampleSizePlan as SampleSizePlan
from .population import Cases as Cases
from .population import ContinuousWorld as ContinuousWorld
from .population import RealData as RealData
from .population import Truth as Truth
from .population import World as World
from .runner import replay as replay
from .runner import run_study as run_study
from .scenario import Scenario as Scenario
from .scenario import Study as Study
from .store import StudyStatus as StudyStatus
from .store import merge_stores as merge_stores
from .study_report import write_report as write_report
from .summary import Summary as Summary
from .summary import summarize as summarize
