#!/bin/bash
#: refused 3
if [ $# != 2 ]; then echo usage; exit 1; fi
python train.py $1 $2 &
