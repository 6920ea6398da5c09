"""The stand-in's part of lightning.pytorch.callbacks."""

class Callback:
    def on_train_start(self, trainer, pl_module):
        pass

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        pass

    def on_train_end(self, trainer, pl_module):
        pass

    def on_exception(self, trainer, pl_module, exception):
        pass
