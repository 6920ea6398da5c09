// Thousands of lines as pixels, each with the mean colour of the lines over it. Lines are added and removed one by one,
// so a range that moves costs only the lines that enter or leave it.
"use strict";

(() => {
  const MOST_TOUCHED = 1 << 18; // pixels; with more of them, all pixels are computed again
  const TOGETHER = 32; // lines between two looks at the clock

  muster.PixelLines = class {
    // `trace(row, segment)` calls `segment(x0, y0, x1, y1)` in pixels for each part of the row's line.
    constructor(context, rows, colours, trace) {
      const { width, height } = context.canvas;
      this.context = context;
      this.width = width;
      this.image = context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.sums = new Uint32Array(4 * width * height); // red, green, blue, lines
      this.touched = new Uint32Array(MOST_TOUCHED);
      this.shown = new Uint8Array(rows); // the lines that are in the sums
      this.colours = colours;
      this.trace = trace;
    }

    // Draws the rows with a 1 in `visible`. Ends early after `limit` milliseconds, and then returns false: call it again.
    show(visible, limit = Infinity) {
      const { shown } = this;
      const end = performance.now() + limit;
      let changed = 0;
      let complete = true;
      this.count = 0;
      for (let row = 0; row < shown.length; row++) {
        if (shown[row] === visible[row]) continue;
        if (changed++ % TOGETHER === 0 && changed > 1 && performance.now() > end) {
          complete = false;
          break;
        }
        this.put(row, visible[row] ? 1 : -1);
        shown[row] = visible[row];
      }
      if (changed) this.resolve();
      this.context.putImageData(this.image, 0, 0);
      return complete;
    }

    put(row, sign) {
      const colour = this.colours[row];
      const red = sign * (colour & 255);
      const green = sign * ((colour >>> 8) & 255);
      const blue = sign * ((colour >>> 16) & 255);
      this.trace(row, (x0, y0, x1, y1) => this.segment(x0, y0, x1, y1, red, green, blue, sign));
    }

    // One pixel per column or, if it is steep, one per row. The same pixels whenever it is called with the same numbers.
    segment(x0, y0, x1, y1, red, green, blue, sign) {
      const { sums, touched, width } = this;
      const steps = Math.ceil(Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0)));
      if (steps === 0) return;
      const dx = (x1 - x0) / steps;
      const dy = (y1 - y0) / steps;
      let x = x0 + 0.5;
      let y = y0 + 0.5;
      let count = this.count;
      for (let i = 0; i <= steps; i++) {
        const pixel = (y | 0) * width + (x | 0);
        const at = pixel << 2;
        sums[at] += red;
        sums[at + 1] += green;
        sums[at + 2] += blue;
        sums[at + 3] += sign;
        if (count < MOST_TOUCHED) touched[count++] = pixel;
        x += dx;
        y += dy;
      }
      this.count = count;
    }

    // The pixels of the sums that have changed.
    resolve() {
      const { sums, pixels, touched, count } = this;
      const whole = count === MOST_TOUCHED;
      const most = whole ? pixels.length : count;
      for (let i = 0; i < most; i++) {
        const pixel = whole ? i : touched[i];
        const at = pixel << 2;
        const lines = sums[at + 3];
        pixels[pixel] = lines === 0 ? 0 : 0xff000000 | ((sums[at + 2] / lines) << 16) | ((sums[at + 1] / lines) << 8) | (sums[at] / lines);
      }
    }
  };
})();
