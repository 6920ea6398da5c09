#!/bin/bash
#: call
names=(alpha beta gamma)
for ((i=0;i<${#names[@]};i++)); do
  python train.py --name ${names[$i]} --out out/${names[i]}_$i &
done
wait
