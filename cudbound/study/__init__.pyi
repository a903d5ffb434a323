"""What a methodologist imports, and where it is."""

from .design.design_file import read_design as read_design
from .design.scenario import Scenario as Scenario
from .design.scenario import Study as Study
from .measure.summary import Summary as Summary
from .measure.summary import summarize as summarize
from .planning.closed_forms import closed_form_sample_sizes as closed_form_sample_sizes
from .planning.plan_sample_size import SampleSizePlan as SampleSizePlan
from .populations import worlds as worlds
from .populations.population import Cases as Cases
from .populations.population import ContinuousWorld as ContinuousWorld
from .populations.population import RealData as RealData
from .populations.population import Truth as Truth
from .populations.population import World as World
from .run.runner import replay as replay
from .run.runner import run_study as run_study
from .run.store import StudyStatus as StudyStatus
from .run.store import merge_stores as merge_stores
from .study_report import write_report as write_report
