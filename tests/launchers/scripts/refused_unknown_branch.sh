#!/bin/bash
#: refused 6 2
OUT=a
if [ -f marker ]; then OUT=b; fi
for ((i=0;i<$1;i++)); do
  python train.py --out $OUT &
done
