#!/bin/bash
#: call 0
export RANK_SIZE=8
export DEVICE_ID=$1
export RANK_ID=$1
python train.py --device_id $DEVICE_ID > log.txt 2>&1 &
