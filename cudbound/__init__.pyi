"""The public names and where they are; `cudbound/__init__.py` imports each when it is first used."""

from . import solve as solve
from . import study as study
from .analysis.available_methods import available_methods as available_methods
from .analysis.compare_learners import compare_learners as compare_learners
from .analysis.cud_interval import CudResult as CudResult
from .analysis.cud_interval import cud_interval as cud_interval
from .analysis.from_records import from_records as from_records
from .analysis.performance_interval import compare_intervals as compare_intervals
from .analysis.performance_interval import estimate_error as estimate_error
from .analysis.performance_interval import performance_interval as performance_interval
from .analysis.table import ComparisonTable as ComparisonTable
from .analysis.table import IntervalTable as IntervalTable
from .analysis.table import PerformanceInterval as PerformanceInterval
from .analysis.verify_result import verify_result as verify_result
from .basis.results import ConfidenceInterval as ConfidenceInterval
from .basis.results import IntervalEstimate as IntervalEstimate
from .bound.cud_bound import Bound as Bound
from .clinical.clinical_report import clinical_report as clinical_report
from .estimators.two_class import ConvexLossClassifier as ConvexLossClassifier
from .estimators.two_class import LeastSquaresClassifier as LeastSquaresClassifier
from .estimators.two_class import stump_basis as stump_basis
from .intervals.method import own_method as own_method
from .metrics.metric import Metric as Metric
from .metrics.metrics import Metrics as Metrics
from .resampling import Resampling as Resampling
from .study.plan_sample_size import plan_sample_size as plan_sample_size

__version__: str
