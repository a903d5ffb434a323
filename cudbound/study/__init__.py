"""Coverage studies and planning: populations, design, run, measure, report.

The public names are listed in `__init__.pyi` and imported from here on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
