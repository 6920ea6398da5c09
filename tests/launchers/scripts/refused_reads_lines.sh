#!/bin/bash
#: refused 3
grep -v '#' hosts | while read h; do
  python train.py --host $h &
done
