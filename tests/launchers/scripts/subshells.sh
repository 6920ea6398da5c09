#!/bin/bash
#: call
for i in 0 1 2 3; do
  mkdir -p out_$i
  (
    cd out_$i
    export RANK_ID=$i
    export DEVICE_ID=$((i + 4))
    python ../train.py
  ) &
done
wait
