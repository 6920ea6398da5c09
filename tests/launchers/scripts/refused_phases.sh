#!/bin/bash
#: refused 5
python a.py &
wait
python b.py &
