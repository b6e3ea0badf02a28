"""A signal sent by a call is handled at the end of that call."""
import signal


class Stop(Exception):
    pass


def handler(*_):
    raise Stop("stopped")


signal.signal(signal.SIGUSR1, handler)


def plain():
    try:
        signal.raise_signal(signal.SIGUSR1)
    except Stop as e:
        return str(e), e.__traceback__.tb_lineno
    return "too late"


def star():
    args = (signal.SIGUSR1,)
    try:
        signal.raise_signal(*args)
    except Stop as e:
        return str(e), e.__traceback__.tb_lineno
    return "too late"


for _ in range(50):
    a, b = plain(), star()
print(a, b)
