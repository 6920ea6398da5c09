#!/bin/bash
#: refused 4
NAME=$(date +%s)
python train.py --name $NAME &
