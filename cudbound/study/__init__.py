"""Coverage studies and planning: populations, design, run, measure, report.

What a methodologist needs is listed in `__init__.pyi` and imported from here, when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
