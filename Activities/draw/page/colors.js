// The colours that the palette offers, and how a colour looks on dark paper. Items keep the colour that was chosen.

export const palette = [
    { name: "ink", value: "#1f2430" },
    { name: "grey", value: "#7b8494" },
    { name: "red", value: "#d9383f" },
    { name: "orange", value: "#e8750a" },
    { name: "yellow", value: "#dda300" },
    { name: "green", value: "#2a9757" },
    { name: "teal", value: "#0c8c9c" },
    { name: "blue", value: "#2163d4" },
    { name: "violet", value: "#7a4dd8" },
    { name: "pink", value: "#d0388a" },
];

const cache = new Map();

export function toHsl(color) {
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255);
    const most = Math.max(r, g, b);
    const least = Math.min(r, g, b);
    const spread = most - least;
    const lightness = (most + least) / 2;
    if (spread === 0) return { hue: 0, saturation: 0, lightness };
    const saturation = spread / (1 - Math.abs(2 * lightness - 1));
    const hue = most === r ? ((g - b) / spread + 6) % 6 : most === g ? (b - r) / spread + 2 : (r - g) / spread + 4;
    return { hue: hue * 60, saturation, lightness };
}

/** The colour to paint with: on dark paper light becomes dark and dark becomes light, the hue stays. */
export function shown(color, isDark) {
    if (!isDark) return color;
    let result = cache.get(color);
    if (!result) {
        const { hue, saturation, lightness } = toHsl(color);
        // A colour of middle lightness only needs to be a little brighter; ink and paper change places.
        const isVivid = saturation > 0.2 && lightness > 0.22 && lightness < 0.78;
        const flipped = isVivid ? 0.66 + (lightness - 0.5) * 0.2 : 0.97 - 0.86 * lightness;
        result = `hsl(${hue.toFixed(1)} ${(saturation * 100).toFixed(1)}% ${(flipped * 100).toFixed(1)}%)`;
        cache.set(color, result);
    }
    return result;
}

/** A pale colour for the inside of a shape, as `#rrggbb`. */
export function pale(color) {
    const mixed = [1, 3, 5].map((at) => Math.round(255 - (255 - parseInt(color.slice(at, at + 2), 16)) * 0.18));
    return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
