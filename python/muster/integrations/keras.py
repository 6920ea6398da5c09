"""fit() of Keras, of the packages keras and tensorflow:

    from muster.integrations.keras import MusterCallback

    model.fit(..., callbacks=[MusterCallback()])
"""

try:
    from keras.callbacks import Callback
except ImportError:
    from tensorflow.keras.callbacks import Callback

from . import Stop, report_numbers


class MusterCallback(Callback):
    """Reports the logs of each epoch, counted from 1, and with `every` those of one batch in `every`;
    ends the training when muster asks. Keras knows no ranks: each process reports, and muster takes the
    first one's."""

    def __init__(self, signals=("SIGTERM",), every=None):
        super().__init__()
        self._stop = Stop(signals)
        self._every = every
        self._batches = 0

    def on_train_begin(self, logs=None):
        self._stop.begin()

    def on_train_batch_end(self, batch, logs=None):
        self._batches += 1
        if self._every and self._batches % self._every == 0:
            report_numbers(logs or {}, step=self._batches)
        if self._stop.requested():
            self.model.stop_training = True

    def on_epoch_end(self, epoch, logs=None):
        report_numbers(logs or {}, epoch=epoch + 1, step=self._batches)

    def on_train_end(self, logs=None):
        self._stop.end()
