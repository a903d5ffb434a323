"""Confidence intervals for the error of a classifier trained on few patients.

The public names are listed in `__init__.pyi` and imported on first use, which keeps ``import cudbound`` fast.
"""

from importlib.metadata import version

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
__version__ = version("cudbound")
