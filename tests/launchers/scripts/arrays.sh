#!/bin/bash
#: call
names=(alpha beta gamma)
rates=(0.1 0.01 0.001)
for i in ${!names[@]}; do
  python train.py ${names[$i]} &
done
