#!/bin/bash
#: refused 3
module purge
python train.py &
