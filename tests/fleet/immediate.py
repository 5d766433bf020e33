"""An executor without processes."""

from concurrent.futures import Executor, Future


class Immediate(Executor):
    """An executor that runs everything at once, in this thread."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  # passed on
            future.set_exception(error)
        return future
