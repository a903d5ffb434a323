"""What a study draws training sets from: simulated worlds, real data, data of the user's own."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["worlds"])
