#!/bin/bash
#: call 0
export DEVICE_ID=$1
cd ..
python train.py --device_id=$DEVICE_ID
