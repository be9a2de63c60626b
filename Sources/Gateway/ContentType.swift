/// The media types of files by the end of their names.
enum ContentType {
    private static let types: [String: String] = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8", "json": "application/json; charset=utf-8", "map": "application/json; charset=utf-8",
        "webmanifest": "application/manifest+json; charset=utf-8", "txt": "text/plain; charset=utf-8", "md": "text/markdown; charset=utf-8",
        "csv": "text/csv; charset=utf-8", "xml": "application/xml; charset=utf-8", "vtt": "text/vtt; charset=utf-8",
        "svg": "image/svg+xml; charset=utf-8", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "webp": "image/webp", "avif": "image/avif", "ico": "image/x-icon", "mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg",
        "oga": "audio/ogg", "opus": "audio/ogg", "wav": "audio/wav", "flac": "audio/flac", "mp4": "video/mp4", "m4v": "video/mp4",
        "webm": "video/webm", "ogv": "video/ogg", "mov": "video/quicktime", "mkv": "video/x-matroska", "woff": "font/woff",
        "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf", "wasm": "application/wasm", "pdf": "application/pdf",
        "zip": "application/zip", "excalidraw": "application/json; charset=utf-8", "excalidrawlib": "application/json; charset=utf-8",
    ]

    /// The type of a file of this name; bytes without a known meaning are `application/octet-stream`.
    static func of(_ name: some StringProtocol) -> String {
        guard let dot = name.lastIndex(of: ".") else { return unknown }
        return types[name[name.index(after: dot)...].lowercased()] ?? unknown
    }

    private static let unknown = "application/octet-stream"
}
