import Testing

@testable import Gateway

@Suite("QR codes")
struct QRCodeTests {
    @Test("A link becomes a square with a quiet border of four modules")
    func hasBorder() throws {
        let code = try #require(QRCode("http://192.168.1.5:4750/j/BCDFGH"))
        let svg = String(decoding: code.svg, as: UTF8.self)
        #expect(svg.contains("viewBox=\"0 0 \(code.width + 8) \(code.width + 8)\""))
        // The finder pattern's first row stands right inside the border.
        #expect(svg.contains("M4 4h7v1h-7z"))
        #expect(!svg.contains("script") && !svg.contains("style"))
    }

    @Test("Half blocks are as wide as the code with its border, and half as high", arguments: [false, true])
    func halfBlocksFit(inverted: Bool) throws {
        let code = try #require(QRCode("x"))
        let lines = code.halfBlocks(inverted: inverted)
        #expect(lines.count == (code.width + 9) / 2)
        #expect(lines.allSatisfy { $0.count == code.width + 8 })
        #expect(lines[0].allSatisfy { $0 == (inverted ? " " : "█") })
    }

    @Test("What does not fit into a QR code has none", arguments: ["", String(repeating: "x", count: 5000)])
    func refuses(text: String) {
        #expect(QRCode(text) == nil)
    }
}
