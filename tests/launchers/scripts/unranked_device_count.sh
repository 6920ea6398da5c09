#!/bin/bash
#: call
export DEVICE_NUM=8
export RANK_SIZE=8
python train.py --all > log.txt 2>&1 &
