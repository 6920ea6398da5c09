"""A stand-in for Keras: fit()'s calls of callbacks, in its order and with its arguments."""


class Model:
    def __init__(self):
        self.stop_training = False
        self.epochs = 0

    def fit(self, callbacks, epochs, batches, at_batch=None):
        for callback in callbacks:
            callback.set_model(self)
            callback.on_train_begin()
        while self.epochs < epochs and not self.stop_training:
            for batch in range(batches):
                if at_batch:
                    at_batch(self.epochs, batch)
                for callback in callbacks:
                    callback.on_train_batch_end(batch, logs={"loss": 1.0})
                if self.stop_training:
                    break
            for callback in callbacks:
                callback.on_epoch_end(self.epochs, logs={"loss": 0.5, "val_loss": 0.75})
            self.epochs += 1
        for callback in callbacks:
            callback.on_train_end(logs={"loss": 0.5})
