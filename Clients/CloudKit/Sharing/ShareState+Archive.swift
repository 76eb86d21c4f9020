import RecordModel

// The parts of a share in an archive, also in one of its system fields alone: none of them is a
// field.
extension ShareState {
    var archiveParts: [Field] {
        var parts = [
            Field("sharing", .bytes(self.local.bytes)),
            Field("sharingBlocked", list: self.namesBlocked),
            Field("sharingDenied", list: self.namesDenied),
            Field("sharingUnblocked", list: self.namesUnblocked),
        ]
        if let known = self.known { parts.append(Field("sharingKnown", .bytes(known.bytes))) }
        if let address = self.address { parts.append(Field("sharingAddress", .string(address))) }
        if let misuse = self.misuse { parts.append(Field("sharingMisuse", .string(misuse.text))) }
        return parts
    }

    /// Reads the state; `nil` if the archive has none.
    init?(_ archive: ArchivedBody) {
        guard let bytes = archive.bytes("sharing"), let local = try? Share(decoding: bytes) else {
            return nil
        }
        let known = archive.bytes("sharingKnown").flatMap { try? Share(decoding: $0) }
        self.init(showing: local, known: known)
        self.keepNames(
            denied: archive.texts("sharingDenied"),
            blocked: archive.texts("sharingBlocked"),
            unblocked: archive.texts("sharingUnblocked")
        )
        self.address = archive.text("sharingAddress")
        self.misuse = archive.text("sharingMisuse").map { ValueRefusal($0) }
    }
}
