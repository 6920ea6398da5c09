#!/bin/bash
#: refused 3
python train.py ../*.py &
