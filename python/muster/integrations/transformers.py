"""Trainer of Hugging Face:

    from muster.integrations.transformers import MusterCallback

    trainer = Trainer(..., callbacks=[MusterCallback()])
"""

from transformers import TrainerCallback

from . import Stop, report_numbers


class MusterCallback(TrainerCallback):
    """Reports what the Trainer logs, evaluations included, from the world's rank 0; ends the training after a
    checkpoint when muster asks. `stop_every`: after how many steps the ranks agree on whether to stop."""

    def __init__(self, signals=("SIGTERM",), stop_every=10):
        self._stop = Stop(signals)
        self._stop_every = stop_every

    def on_train_begin(self, args, state, control, **kwargs):
        self._stop.begin()

    def on_log(self, args, state, control, logs=None, **kwargs):
        if state.is_world_process_zero and logs:
            report_numbers(logs, step=state.global_step)

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step % self._stop_every:
            return
        if self._stop.requested_anywhere(getattr(args, "device", None)):
            control.should_save = True
            control.should_training_stop = True

    def on_train_end(self, args, state, control, **kwargs):
        self._stop.end()
