"""`sys.monitoring.set_local_events` is the interpreter's own function, in all that it says of itself."""

import inspect
import sys

function = sys.monitoring.set_local_events
print(function.__module__, function.__self__, function.__name__, function.__qualname__)
print(inspect.signature(function), type(function), function.__doc__)
try:
    function(1)
except TypeError as error:
    print(error)
