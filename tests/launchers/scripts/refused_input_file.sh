#!/bin/bash
#: refused 4 2
for ((i=0;i<$1;i++)); do
  python train.py < data$i.txt &
done
