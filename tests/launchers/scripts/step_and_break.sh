#!/bin/bash
#: call
export RANK_SIZE=2
for ((i=0;i<10;i+=2)); do
  if [ $i -eq 2 ]; then continue; fi
  if [ $i -gt 4 ]; then break; fi
  RANK_ID=$((i/4)) python train.py --i $i &
done
