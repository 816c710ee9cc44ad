/** A component that is drawn again only when its properties changed. */
import { Component, type ComponentType, createElement, type FunctionComponent } from 'preact';

export function memo<P extends object>(
  draw: FunctionComponent<P>,
  isSame: (before: P, after: P) => boolean = hasSameValues,
): ComponentType<P> {
  return class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return !isSame(this.props, next);
    }
    override render() {
      return createElement(draw, this.props);
    }
  };
}

function hasSameValues(before: object, after: object): boolean {
  const entries = Object.entries(after);
  return (
    entries.length === Object.keys(before).length &&
    entries.every(([key, value]) => Object.is((before as Record<string, unknown>)[key], value))
  );
}
