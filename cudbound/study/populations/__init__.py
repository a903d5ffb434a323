"""Sources of training sets for studies: simulated worlds, real data, user-defined data."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["worlds"])
