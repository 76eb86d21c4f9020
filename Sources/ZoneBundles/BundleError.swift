/// A fault of a bundle.
package enum BundleError: Error, Hashable, Sendable {
    /// The stream is truncated: copy it again.
    case cut(at: Int64)
    /// The file is not a bundle.
    case notABundle
    /// A newer version wrote it: use that version.
    case formatUnknown(Int)
    /// A byte differs from what a writer would have written.
    case malformed(at: Int64)
    /// The hash or the counts in the last entry differ from those of the file.
    case differs
    case assetDiffers(String)
    /// An entry that is not allowed at its position.
    case entryUnexpected(String)
    case entryTooLarge(String, bytes: Int64)
    case recordMalformed(entry: String)
    case recordTwice(String)
    /// Dates or authors that no server sets.
    case systemFieldsInvalid(String)
    /// A zone that is not in `bundle.json`, or not at this position.
    case zoneUnexpected(String)
    case parentMissing(String, of: String)
    case targetMissing(zone: String)
    /// A share without its root before it, or in a public database.
    case shareWithoutRoot(String)
    /// A referenced asset is not in the bundle, or an asset is unreferenced.
    case assetsIncomplete(missing: Int)
    case assetUnnamed(String)
    case schemaMalformed(String)
    /// The file cannot be read; has the system's error number.
    case unreadable(Int32)
}

extension BundleError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .cut(let offset): "it ends after \(offset) bytes, before its last entry is complete"
        case .notABundle: "it is not a bundle of `tidemark zone export`"
        case .formatUnknown(let format):
            "it has format \(format), and this version knows 1 and 2: use the version that wrote it"
        case .malformed(let offset): "it was changed or damaged near byte \(offset)"
        case .differs: "its contents differ from the hash and the counts at its end"
        case .assetDiffers(let hash): "the asset \(hash) has other bytes than its hash says"
        case .entryUnexpected(let name): "the entry '\(name)' does not belong where it stands"
        case .entryTooLarge(let name, let bytes): "the entry '\(name)' has \(bytes) bytes, which is too much"
        case .recordMalformed(let entry): "a record in '\(entry)' is malformed"
        case .recordTwice(let name): "the record '\(name)' comes twice"
        case .systemFieldsInvalid(let name): "the record '\(name)' has impossible dates or authors"
        case .zoneUnexpected(let name): "the zone '\(name)' is not where bundle.json names it"
        case .parentMissing(let parent, let name):
            "the record '\(name)' comes without its parent '\(parent)' before it"
        case .targetMissing(let zone):
            "a record of the zone '\(zone)' refers with an action to one that is not there"
        case .shareWithoutRoot(let name): "the share '\(name)' comes without its root before it"
        case .assetsIncomplete(let missing):
            "\(missing) \(missing == 1 ? "asset" : "assets") that its records name are not in it"
        case .assetUnnamed(let hash): "no record names the asset \(hash)"
        case .schemaMalformed(let text): "its schema is not one: \(text)"
        case .unreadable(let code): "it cannot be read (error \(code))"
        }
    }
}
