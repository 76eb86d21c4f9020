extension Proto.Location {
    /// The property that the field encodes.
    var property: WritableKeyPath<Location, Double> {
        switch self {
        case .latitude: \.latitude
        case .longitude: \.longitude
        case .altitude: \.altitude
        case .horizontalAccuracy: \.horizontalAccuracy
        case .verticalAccuracy: \.verticalAccuracy
        case .course: \.course
        case .speed: \.speed
        case .timestamp: \.timestamp
        }
    }
}
