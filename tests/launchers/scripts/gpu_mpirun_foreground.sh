#!/bin/bash
#: call 4
export CUDA_DEVICE_ORDER=PCI_BUS_ID
mpirun -n $1 --allow-run-as-root python3 ../train.py --n $1 2>&1 | tee log.txt
