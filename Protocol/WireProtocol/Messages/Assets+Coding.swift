import NIOCore
import RecordModel

extension Asset {
    /// Reads what a request names: how large an asset may be is the server's to say.
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(sha256: [], size: 0)
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: self.sha256 = try message.hash()
            case 0x10: self.size = try message.place("size")
            default: try message.skip(tag)
            }
        }
        guard !self.sha256.isEmpty else { throw WireError(.refused(.invalidArguments), field: "sha256") }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.sha256)
        buffer.writeField(2, self.size)
    }
}

extension AssetRange {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(sha256: [])
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: self.sha256 = try message.hash()
            case 0x10: self.offset = try message.place("offset")
            case 0x18:
                let length = try message.place("length")
                self.length = length == 0 ? nil : length
            default: try message.skip(tag)
            }
        }
        guard !self.sha256.isEmpty else { throw WireError(.refused(.invalidArguments), field: "sha256") }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.sha256)
        buffer.writeField(2, self.offset)
        buffer.writeField(3, self.length ?? 0)
    }
}

extension MessageReader {
    fileprivate mutating func hash() throws(WireError) -> [UInt8] {
        let hash = try self.bytes()
        guard hash.count == Asset.hashBytes else {
            throw WireError(.refused(.invalidArguments), field: "sha256")
        }
        return hash
    }

    /// A number of bytes, of which a file has at most 2⁶³−1.
    fileprivate mutating func place(_ field: StaticString) throws(WireError) -> Int64 {
        guard let place = Int64(exactly: try self.varint()) else {
            throw WireError(.refused(.invalidArguments), field: field)
        }
        return place
    }
}

extension UploadAssets {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private, assets: [])
        var scope: UInt32 = 0
        while let tag = try message.tag() {
            switch tag {
            case 0x08: scope = try message.uint32()
            case 0x12: self.assets.append(try Asset(message.message()))
            case 0x1A: self.zone = try ZoneID(message.message())
            default: try message.skip(tag)
            }
        }
        let hashes = Set(self.assets.map(\.sha256))
        guard !hashes.isEmpty, hashes.count == self.assets.count else {
            throw WireError(.refused(.invalidArguments), field: "assets")
        }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.scope.number)
        for asset in self.assets { buffer.writeMessage(2) { asset.encode(into: &$0) } }
        if let zone { buffer.writeMessage(3) { zone.encode(into: &$0) } }
    }
}

extension DownloadAssets {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private, record: .unnamed, ranges: [])
        var scope: UInt32 = 0
        while let tag = try message.tag() {
            switch tag {
            case 0x08: scope = try message.uint32()
            case 0x12: self.ranges.append(try AssetRange(message.message()))
            case 0x22: try self.record.merge(message.message())
            default: try message.skip(tag)
            }
        }
        guard !self.ranges.isEmpty else { throw WireError(.refused(.invalidArguments), field: "ranges") }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.scope.number)
        for range in self.ranges { buffer.writeMessage(2) { range.encode(into: &$0) } }
        buffer.writeMessage(4) { self.record.encode(into: &$0) }
    }
}
