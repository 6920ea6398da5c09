"""A stand-in for Hugging Face transformers: the Trainer's calls of callbacks, in its order and with its
arguments."""


class TrainerControl:
    def __init__(self):
        self.should_training_stop = False
        self.should_save = False


class TrainerState:
    def __init__(self, is_world_process_zero):
        self.global_step = 0
        self.epoch = 0.0
        self.is_world_process_zero = is_world_process_zero


class TrainerCallback:
    def on_train_begin(self, args, state, control, **kwargs):
        pass

    def on_step_end(self, args, state, control, **kwargs):
        pass

    def on_log(self, args, state, control, **kwargs):
        pass

    def on_evaluate(self, args, state, control, **kwargs):
        pass

    def on_train_end(self, args, state, control, **kwargs):
        pass


class Trainer:
    """Trains `steps` steps, logs each one and evaluates at the end."""

    def __init__(self, callbacks, steps, at_step=None, zero=True):
        self.callbacks, self.steps, self.at_step = callbacks, steps, at_step
        self.state, self.control, self.saved = TrainerState(zero), TrainerControl(), []

    def _call(self, event, **kwargs):
        for callback in self.callbacks:
            getattr(callback, event)(None, self.state, self.control, model=None, **kwargs)

    def train(self):
        self._call("on_train_begin")
        while self.state.global_step < self.steps and not self.control.should_training_stop:
            self.state.global_step += 1
            if self.at_step:
                self.at_step(self.state.global_step)
            self._call("on_step_end")
            self._call("on_log", logs={"loss": 1 / self.state.global_step, "epoch": 0.5, "note": "text"})
            if self.control.should_save:
                self.control.should_save = False
                self.saved.append(self.state.global_step)
        self._call("on_log", logs={"eval_loss": 0.5})
        self._call("on_evaluate", metrics={"eval_loss": 0.5})
        self._call("on_train_end")
