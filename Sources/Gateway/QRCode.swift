internal import CQREncode

/// A QR code of a link: level M, drawn dark on white with the 4 modules of quiet border that scanners need.
package struct QRCode: Sendable {
    /// Modules on each side, border not counted.
    package let width: Int
    private let dark: [Bool]
    private static let border = 4

    /// Encodes `text`; nil when it is empty or too long for a QR code.
    package init?(_ text: String) {
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return nil }
        defer { QRcode_free(code) }
        width = Int(code.pointee.width)
        // The lowest bit of a module is its colour; the others say what it is part of.
        dark = (0..<width * width).map { code.pointee.data[$0] & 1 == 1 }
    }

    private func isDark(_ x: Int, _ y: Int) -> Bool {
        x >= 0 && y >= 0 && x < width && y < width && dark[y * width + x]
    }

    /// The code as an SVG document, one unit a module; it keeps its white ground in dark themes.
    package var svg: [UInt8] {
        let side = width + 2 * Self.border
        var path = ""
        for y in 0..<width {
            var x = 0
            while x < width {
                guard isDark(x, y) else {
                    x += 1
                    continue
                }
                let start = x
                while isDark(x, y) { x += 1 }
                path += "M\(start + Self.border) \(y + Self.border)h\(x - start)v1h-\(x - start)z"
            }
        }
        return Array(
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges">\
            <rect width="\(side)" height="\(side)" fill="#ffffff"/><path d="\(path)" fill="#000000"/></svg>

            """.utf8)
    }

    /// The code as lines of half blocks, two rows of modules a line; `inverted` for terminals with a light ground.
    package func halfBlocks(inverted: Bool = false) -> [String] {
        stride(from: -Self.border, to: width + Self.border, by: 2).map { y in
            String(
                (-Self.border..<width + Self.border).map { x -> Character in
                    // Light modules are drawn, so that a dark ground becomes the dark ones.
                    switch (isDark(x, y) == inverted, isDark(x, y + 1) == inverted) {
                    case (true, true): "█"
                    case (true, false): "▀"
                    case (false, true): "▄"
                    case (false, false): " "
                    }
                })
        }
    }
}
