#!/bin/bash
#: refused 5
D=$(mktemp -d)
cd $D
python train.py &
