#!/bin/bash
#: refused 4
if [ -d data ]; then
  python train.py &
else
  python train.py --download &
fi
